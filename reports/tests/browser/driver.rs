//! A browser without a window, driven over a pipe by Chrome's DevTools protocol.
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// Running browser with one page.
pub struct Browser {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: Option<String>,
    last: u64,
    /// Events of the protocol since the last call of [`Self::open`].
    events: Vec<Value>,
}

impl Browser {
    /// Starts `GUARDBIT_CHROMIUM` with a profile of its own below `folder`.
    pub fn start(folder: &Path) -> Self {
        let program =
            std::env::var_os("GUARDBIT_CHROMIUM").expect("GUARDBIT_CHROMIUM is set, see scripts/test");
        // The protocol uses the descriptors 3 and 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 1>&2"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                "--no-first-run",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--mute-audio"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut browser = Self { process, input, output, session: None, last: 0, events: Vec::new() };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached =
            browser.call("Target.attachToTarget", &json!({"targetId": target["targetId"], "flatten": true}));
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser.call("Emulation.setFocusEmulationEnabled", &json!({"enabled": true}));
        browser
    }

    /// Calls a method of the protocol.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        self.input.flush().unwrap();
        loop {
            let mut reply = self.receive();
            if reply["id"] == self.last {
                assert!(reply["error"].is_null(), "{method}: {}", reply["error"]);
                return reply["result"].take();
            }
            self.events.push(reply);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert!(!bytes.is_empty(), "the browser ended");
        serde_json::from_slice(&bytes[..bytes.len() - 1]).unwrap()
    }

    /// Opens a file in a window of a width and height, in the scheme `light` or `dark`, and waits until it is loaded.
    pub fn open(&mut self, path: &Path, [width, height]: [u32; 2], scheme: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &features);
        // Another page in between, because an equal address would not load the file again.
        for url in ["about:blank".to_owned(), format!("file://{}", path.display())] {
            self.events.clear();
            self.call("Page.navigate", &json!({"url": url}));
            while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
                let event = self.receive();
                self.events.push(event);
            }
        }
    }

    /// Returns the value of an expression, after a promise is kept.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut result = self.call("Runtime.evaluate", &params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// Waits until an expression is true.
    pub fn wait(&mut self, expression: &str) {
        let check = format!(
            "new Promise((done, fail) => {{ const end = Date.now() + 20000; const look = () => {{ if ({expression}) \
             done(true); else if (Date.now() > end) fail(new Error('not within 20 s')); else setTimeout(look, 20); }}; \
             look(); }})"
        );
        self.value(&check);
    }

    /// Returns the middle of the first element that a selector finds, after scrolling it into view. Waits until it stays
    /// in its place: plots above it are drawn when they come near the window.
    fn middle(&mut self, selector: &str) -> [f64; 2] {
        let place = self.value(&format!(
            "(async () => {{ let last = ''; for (;;) {{ const element = document.querySelector({}); \
             element.scrollIntoView({{block: 'center'}}); await new Promise(done => setTimeout(done, 60)); \
             const {{left, top, width, height}} = element.getBoundingClientRect(); \
             const now = [left + width / 2, top + height / 2]; if (String(now) === last) return now; \
             last = String(now); }} }})()",
            json!(selector)
        ));
        [0, 1].map(|at| place[at].as_f64().unwrap())
    }

    fn mouse(&mut self, kind: &str, [x, y]: [f64; 2]) {
        let button = if kind == "mouseMoved" { "none" } else { "left" };
        let params =
            json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": 1, "pointerType": "mouse"});
        self.call("Input.dispatchMouseEvent", &params);
    }

    /// Moves the pointer over an element.
    pub fn hover(&mut self, selector: &str) {
        let place = self.middle(selector);
        self.mouse("mouseMoved", place);
    }

    /// Clicks an element.
    pub fn click(&mut self, selector: &str) {
        let place = self.middle(selector);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            self.mouse(kind, place);
        }
    }

    /// Presses and releases a key, in the element that has the focus.
    pub fn key(&mut self, key: &str) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let params = json!({"type": kind, "key": key, "code": key, "text": if kind == "keyDown" { text } else { "" }});
            self.call("Input.dispatchKeyEvent", &params);
        }
    }

    /// Returns errors, messages on the console, and requests for anything but the page.
    pub fn complaints(&mut self) -> Vec<String> {
        // Events that are under way come before this reply.
        self.value("new Promise(done => setTimeout(() => done(0), 50))");
        let told = |event: &Value| match event["method"].as_str()? {
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                Some(event["params"].to_string())
            }
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str()?;
                let is_page = event["params"]["type"] == "Document";
                (!is_page && !url.starts_with("blob:")).then(|| url.to_owned())
            }
            _ => None,
        };
        self.events.iter().filter_map(told).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
