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
  element.append(...present(children));
  return element;
}
const SHAPES = new Set(['svg', 'g', 'rect', 'line', 'path', 'text', 'circle', 'title']);

const present = list => list.filter(item => item !== null && item !== undefined);

const read = id => JSON.parse(document.getElementById(id)?.textContent ?? 'null');

/** Returns a whole number in groups of three digits, and others with four significant digits. */
function figure(value) {
  if (value === null || value === undefined) return '';
  return Number.isInteger(value) && Math.abs(value) < 1e15 ? value.toLocaleString('en-US') : short(value);
}

/** Returns a number with at most four significant digits; from 10,000 on with the letter of its unit, so that no rounded digit looks exact. */
function short(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e15)) return value.toExponential(3).replace(/\.?0+e/, 'e').replace('e+', 'e');
  const [unit, letter] = [[1e12, ' T'], [1e9, ' G'], [1e6, ' M'], [1e3, ' k']].find(([least]) => size >= Math.max(least, 1e4)) ?? [1, ''];
  return Number((value / unit).toPrecision(4)).toLocaleString('en-US', { maximumFractionDigits: 8 }) + letter;
}

/** Returns a value as an axis writes it. */
function written(value, axis) {
  if (value === null || value === undefined) return '';
  return axis?.format === 'percent' ? short(value * 100) + ' %' : figure(value);
}

/** Returns a value for ticks. */
const tick = (value, axis) => axis.format === 'percent' ? written(value, axis) : short(value).replace(' ', '');

/** Returns a scale from values to pixels, with its ticks; logarithmic scales leave out values up to 0. */
function scale(low, high, start, end, log, most) {
  const [of, from] = log ? [Math.log10, value => 10 ** value] : [value => value, value => value];
  const [a, span] = [of(low), of(high) - of(low) || 1];
  const unit = 10 ** Math.floor(Math.log10(span / most));
  const step = log ? Math.max(1, Math.ceil(span / most)) : [1, 2, 5, 10].map(factor => factor * unit).find(step => step >= span / most * 0.999);
  const ticks = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= a + span + step * 1e-9; i++) ticks.push(from(i * step));
  return { at: value => start + (of(value) - a) / span * (end - start), back: pixel => from(a + (pixel - start) / (end - start) * span), ticks, low, high };
}

/** Returns the ends of values, with some room; for a logarithmic axis only those above 0. */
function range(values, log, fromZero) {
  const used = values.filter(value => Number.isFinite(value) && (!log || value > 0));
  let [low, high] = used.length ? [used.reduce((a, b) => Math.min(a, b)), used.reduce((a, b) => Math.max(a, b))] : log ? [1, 10] : [0, 1];
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

const copyButton = (rows, name) => make('button', { type: 'button', click: event => copy(csv(rows()), `${name}.csv`, event.target) }, 'Copy as CSV');

/** Returns a switch. */
function check(text, on, change) {
  const input = make('input', { type: 'checkbox', change: () => change(input.checked) });
  input.checked = on;
  return make('label', {}, input, text);
}

function csv(rows) {
  const cell = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  return rows.map(row => row.map(value => cell(String(value ?? ''))).join(',') + '\n').join('');
}

/** Whether a subject is the selected one: see panel.js. */
const chosen = { kind: '', index: -1 };
const isChosen = (kind, index) => chosen.kind === kind && chosen.index === index;
