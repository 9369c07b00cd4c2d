// What stands in the graph as ordinary elements: legend, tooltip, zoom buttons. Text goes in as textContent, always.

import { HELP, STATED, UNSTATED, UNSUPPORTED } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const SHOWN = 7; // labels before the legend asks whether to show the rest

// The shapes as vis-network draws them, in a square of 14 by 14.
const OUTLINES = {
  dot: "M7 2a5 5 0 1 0 .01 0z",
  square: "M2.5 2.5h9v9h-9z",
  diamond: "M7 1l6 6-6 6-6-6z",
  triangle: "M7 1.5l6 10.5H1z",
  triangleDown: "M7 12.5L1 2h12z",
  star: "M7 1l1.8 4 4.2.4-3.2 2.9 1 4.2L7 10.3l-3.8 2.2 1-4.2L1 5.4 5.2 5z",
  hexagon: "M4 1.8h6L13 7l-3 5.2H4L1 7z",
};

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function drawn(path, attributes, width = 14) {
  const svg = document.createElementNS(SVG, "svg");
  const shape = document.createElementNS(SVG, "path");
  const size = { viewBox: `0 0 ${width} 14`, width, height: 14, "aria-hidden": "true" };
  for (const [name, value] of Object.entries(size)) svg.setAttribute(name, value);
  for (const [name, value] of Object.entries({ d: path, ...attributes })) shape.setAttribute(name, value);
  svg.append(shape);
  return svg;
}

function entry(sample, text, help) {
  const made = element("span", text);
  made.prepend(sample);
  made.title = help;
  return made;
}

export function fillLegend(place, legend, tint, onChange, all = false) {
  const line = { fill: "none", stroke: "currentColor" };
  const shown = all || legend.labels.length <= SHOWN + 1 ? legend.labels : legend.labels.slice(0, SHOWN);
  const entries = shown.map(({ name, shape, count, ...look }) =>
    entry(drawn(OUTLINES[shape], { fill: tint(look) }), name, `${name}: ${count.toLocaleString("en-US")} shown`),
  );
  if (legend.labels.length > SHOWN + 1) {
    const more = element("button", all ? "fewer" : `${legend.labels.length - SHOWN} more`);
    more.type = "button";
    more.setAttribute("aria-expanded", String(all));
    more.onclick = () => {
      fillLegend(place, legend, tint, onChange, !all);
      place.querySelector("button").focus();
      onChange();
    };
    entries.push(more);
  }
  if (legend.stated) entries.push(entry(drawn("M1 7h24", { ...line, "stroke-width": 2 }, 26), STATED, HELP.stated));
  if (legend.unstated) {
    const dashes = { ...line, "stroke-width": 1.5, "stroke-dasharray": "4 4" };
    entries.push(entry(drawn("M1 7h24", dashes, 26), UNSTATED, HELP.unstated));
  }
  if (legend.unsupported) {
    const hollow = drawn(OUTLINES.dot, { ...line, "stroke-width": 1.8 });
    entries.push(entry(hollow, UNSUPPORTED, HELP.unsupported));
  }
  place.replaceChildren(...entries);
}

/** Beside the point, inside the frame. */
export function showTip(tip, { title, lines }, { x, y }) {
  tip.replaceChildren(element("b", title), ...lines.map((line) => element("div", line)));
  tip.hidden = false;
  const { clientWidth: width, clientHeight: height } = tip.parentElement;
  const left = x + 16 + tip.offsetWidth <= width - 6 ? x + 16 : x - 16 - tip.offsetWidth;
  const top = Math.min(y + 14, height - tip.offsetHeight - 6);
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${Math.max(6, top)}px`;
}

export function hideTip(tip) {
  tip.hidden = true;
}
