// What all files of the script share: elements, numbers, colours, messages for screen readers.

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];

/** Returns an element with attributes; a function is a listener, null leaves out. */
function make(name, attributes = {}, ...children) {
  const space = SHAPES.has(name) ? 'http://www.w3.org/2000/svg' : 'http://www.w3.org/1999/xhtml';
  const element = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key, value);
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter(child => child !== null));
  return element;
}
const SHAPES = new Set(['svg', 'g', 'rect', 'line', 'path', 'text', 'circle', 'title']);

function read(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

/** Returns a number with at most four significant digits, in groups of three. */
function figure(value) {
  if (value === null || value === undefined) return '';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e15) return value.toExponential(3).replace(/\.?0+e/, 'e').replace('e+', 'e');
  return Number(value.toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 8 });
}

/** Returns a value as an axis writes it. */
function written(value, axis) {
  if (value === null || value === undefined) return '';
  return axis && axis.format === 'percent' ? figure(value * 100) + ' %' : figure(value);
}

/** Returns a short number for ticks. */
function tick(value, axis) {
  if (axis.format === 'percent') return figure(value * 100) + ' %';
  const size = Math.abs(value);
  const units = [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k']];
  const unit = units.find(([least]) => size >= least);
  if (!unit) return figure(value);
  return figure(value / (unit[1] === 'k' ? 1e3 : unit[0])) + unit[1];
}

/** Returns a scale from values to pixels, with its ticks; logarithmic scales leave out values up to 0. */
function scale(low, high, start, end, log, most) {
  if (log) {
    const [a, b] = [Math.log10(low), Math.log10(high)];
    const span = b - a || 1;
    const ticks = [];
    const step = Math.max(1, Math.ceil(span / most));
    for (let power = Math.ceil(a - 1e-9); power <= b + 1e-9; power += step) ticks.push(10 ** power);
    const at = value => start + (Math.log10(value) - a) / span * (end - start);
    return { at, ticks, back: pixel => 10 ** (a + (pixel - start) / (end - start) * span), low, high };
  }
  const span = high - low || 1;
  const raw = span / most;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(factor => factor * unit).find(step => step >= raw * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) ticks.push(i * step);
  const at = value => start + (value - low) / span * (end - start);
  return { at, ticks, back: pixel => low + (pixel - start) / (end - start) * span, low, high };
}

/** Returns the ends of values, with some room; for a logarithmic axis only those above 0. */
function range(values, log, fromZero) {
  const used = values.filter(value => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = used.length ? [Math.min(...used), Math.max(...used)] : log ? [1, 10] : [0, 1];
  if (log) return [10 ** Math.floor(Math.log10(low) + 1e-9), 10 ** Math.ceil(Math.log10(high * 1.0001))];
  if (fromZero) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) return [low - 1, high + 1];
  const room = (high - low) * 0.04;
  return [fromZero && low === 0 ? 0 : low - room, fromZero && high === 0 ? 0 : high + room];
}

/** Returns the colour of a style's property as canvases understand it. */
function colour(name) {
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}
const probe = make('span', { hidden: '' });

/** Tells screen readers what happened. */
function say(text) {
  voice.textContent = text;
}
const voice = make('div', { class: 'voice', 'aria-live': 'polite', role: 'status' });

/** Shows text near a place of the window; without text it is hidden. */
function tip(text, x, y) {
  bubble.hidden = !text;
  if (!text) return;
  bubble.textContent = text;
  const { offsetWidth, offsetHeight } = bubble;
  bubble.style.left = Math.max(4, Math.min(x + 14, innerWidth - offsetWidth - 4)) + 'px';
  bubble.style.top = (y + offsetHeight + 20 > innerHeight ? y - offsetHeight - 10 : y + 16) + 'px';
}
const bubble = make('div', { class: 'tip', hidden: '', 'aria-hidden': 'true' });

/** Copies text; a browser that refuses gets a file to save. */
async function copy(text, name, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    const link = make('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })), download: name });
    link.click();
    button.textContent = 'Saved';
  }
  say(button.textContent);
  setTimeout(() => { button.textContent = label; }, 1500);
}

function csv(rows) {
  const cell = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map(row => row.map(value => cell(String(value ?? ''))).join(',') + '\n').join('');
}

/** Whether a subject is the selected one: see panel.js. */
const chosen = { kind: '', index: -1 };
const isChosen = (kind, index) => chosen.kind === kind && chosen.index === index;
