//! Pictures of `docs` that show what registers hold: `scripts/renew` draws them with the registers of the simulator.

use std::fmt::Write;
use std::fs;

use crate::common::root;
use guardbit_num::{Accumulator, Format, Overflow};

const INK: &str = "#222222";
const EXACT: &str = "#888888";
const REGISTER: &str = "#0072B2";
const EVENT: &str = "#D55E00";

/// Picture on a white ground, readable in a light and in a dark page.
struct Picture {
    width: u32,
    height: u32,
    body: String,
}

impl Picture {
    fn new(width: u32, height: u32) -> Self {
        Picture { width, height, body: String::new() }
    }

    fn text(&mut self, x: f64, y: f64, size: u32, color: &str, text: &str) {
        writeln!(self.body, r#"<text x="{x}" y="{y}" font-size="{size}" fill="{color}">{text}</text>"#)
            .unwrap();
    }

    fn line(&mut self, points: &[(f64, f64)], color: &str, more: &str) {
        let points: String = points.iter().map(|(x, y)| format!("{x:.1},{y:.1} ")).collect();
        let points = points.trim_end();
        writeln!(
            self.body,
            r#"<polyline fill="none" stroke="{color}" stroke-width="2" {more}points="{points}"/>"#
        )
        .unwrap();
    }

    fn dot(&mut self, (x, y): (f64, f64), color: &str) {
        writeln!(self.body, r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{color}"/>"#).unwrap();
    }

    /// Draws the sums of `products` in a register of 8 bits: the exact sum, the register, and a dot at each event.
    fn sums(&mut self, (left, top): (f64, f64), title: &str, products: &[i128], overflow: Overflow) {
        let format = Format::signed(8).unwrap();
        let mut register = Accumulator::new(format, overflow);
        let (mut exact, mut held, mut events) = (vec![0], vec![0], Vec::new());
        for (index, product) in products.iter().enumerate() {
            exact.push(exact[index] + product);
            if register.add(*product).is_some() {
                events.push(index + 1);
            }
            held.push(register.value());
        }
        let place = |(index, value): (usize, &i128)| {
            (left + 10.0 + 26.0 * index as f64, top + 110.0 - *value as f64 * 0.35)
        };
        self.text(left, top + 12.0, 14, INK, title);
        let right = left + 20.0 + 26.0 * products.len() as f64;
        for (rail, name) in [(format.max(), "127"), (format.min(), "-128")] {
            let (_, y) = place((0, &rail));
            self.line(&[(left, y), (right, y)], "#BBBBBB", "");
            self.text(right + 4.0, y + 4.0, 12, "#666666", name);
        }
        self.line(
            &exact.iter().enumerate().map(place).collect::<Vec<_>>(),
            EXACT,
            r#"stroke-dasharray="5 4" "#,
        );
        self.line(&held.iter().enumerate().map(place).collect::<Vec<_>>(), REGISTER, "");
        for event in events {
            self.dot(place((event, &held[event])), EVENT);
        }
    }

    /// Explains the colours.
    fn legend(&mut self, y: f64) {
        let entries = [("exact sum", EXACT), ("register", REGISTER), ("overflow event", EVENT)];
        for (index, (name, color)) in entries.into_iter().enumerate() {
            let x = 16.0 + 130.0 * index as f64;
            self.dot((x, y - 4.0), color);
            self.text(x + 10.0, y, 13, INK, name);
        }
    }

    fn check(self, name: &str) {
        let (width, height, body) = (self.width, self.height, self.body);
        let text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"#FFFFFF\"/>\n\
             {body}</svg>\n"
        );
        crate::readme::check_picture(&root().join("docs/images").join(name), &text);
    }
}

/// Products whose exact sums leave the range at both ends and return.
const PRODUCTS: [i128; 10] = [60, 60, 60, -40, -60, -80, -60, -60, 50, 40];

#[test]
fn overflow_modes() {
    let mut picture = Picture::new(720, 470);
    let shown = [
        (Overflow::Wrap, "wrap"),
        (Overflow::Saturate, "saturate"),
        (Overflow::SaturateZero, "saturate_zero"),
        (Overflow::Sticky, "sticky"),
    ];
    for (index, (mode, name)) in shown.into_iter().enumerate() {
        let place = (16.0 + 350.0 * (index % 2) as f64, 16.0 + 210.0 * (index / 2) as f64);
        picture.sums(place, name, &PRODUCTS, mode);
    }
    picture.legend(454.0);
    picture.check("overflow_modes.svg");
}

#[test]
fn persistent_and_transient() {
    let mut picture = Picture::new(720, 260);
    picture.sums(
        (16.0, 16.0),
        "persistent: the final sum does not fit",
        &[60, 60, 60, -40, 50, 10],
        Overflow::Saturate,
    );
    picture.sums(
        (366.0, 16.0),
        "transient: only a partial sum does not fit",
        &[60, 60, 60, -40, -60, -30],
        Overflow::Saturate,
    );
    picture.legend(244.0);
    picture.check("persistent_transient.svg");
}

/// The page about overflow modes states the registers that the picture shows.
#[test]
fn the_page_states_the_registers() {
    let page = fs::read_to_string(root().join("docs/explanation/overflow-modes.md")).unwrap();
    for mode in Overflow::ALL {
        let mut register = Accumulator::new(Format::signed(8).unwrap(), mode);
        let held: Vec<String> = PRODUCTS
            .iter()
            .map(|product| {
                register.add(*product);
                register.value().to_string()
            })
            .collect();
        // A trap ends the simulation at the first event.
        let row = format!("| `{mode}` | {} |", held.join(" | "));
        assert!(mode == Overflow::Trap || page.contains(&row), "{row}");
    }
}
