// The colours of the page's theme, read from the properties that Streamlit sets. A canvas knows no CSS variables.

const probe = document.createElement("canvas").getContext("2d");

function channels(css) {
  probe.fillStyle = "#888888"; // stays when the value is none
  probe.fillStyle = css;
  const value = probe.fillStyle; // the browser's own spelling: #rrggbb, or rgba(...)
  if (value[0] === "#") return [1, 3, 5].map((at) => parseInt(value.slice(at, at + 2), 16));
  return value.match(/[\d.]+/g).slice(0, 3).map(Number);
}

function mix(over, under, share) {
  const [a, b] = [channels(over), channels(under)];
  return `rgb(${a.map((channel, at) => Math.round(channel * share + b[at] * (1 - share))).join(", ")})`;
}

const isDark = (css) => channels(css).reduce((sum, channel) => sum + channel) < 3 * 128;

export function readTheme(element) {
  const style = getComputedStyle(element);
  const read = (name, otherwise) => {
    const value = style.getPropertyValue(`--st-${name}`).trim();
    return value && value !== "unset" ? value : otherwise;
  };
  const text = read("text-color", "#1c2529");
  const background = read("background-color", "#ffffff");
  return {
    text,
    background,
    panel: read("secondary-background-color", "#f5f7f8"),
    border: read("border-color", "#dde3e6"),
    accent: read("primary-color", "#0b6e75"),
    font: read("font", "sans-serif"),
    line: (strength) => mix(text, background, strength),
    quiet: mix(text, background, 0.72),
    tint: ({ color, dark }) => (isDark(background) ? dark : color),
    veil: `rgba(${channels(background).join(", ")}, 0.86)`,
  };
}

export function sameTheme(one, other) {
  return one !== null && Object.keys(other).every((name) => typeof one[name] === "function" || one[name] === other[name]);
}

/** The theme's colours for pyvis's nodes and edges. Their texts stay behind: they are drawn by our own hand. */
export function wardrobe(theme, { start, edges, options }) {
  // Many lines on a small pane are one grey blot unless each is fainter and thinner.
  const ease = Math.min(1, Math.max(0.4, Math.sqrt(150 / Math.max(edges.length, 1))));
  const line = (strength) => {
    const color = theme.line(strength * (0.4 + 0.6 * ease));
    return { color, highlight: theme.accent, hover: color, inherit: false };
  };
  const lines = { assertion: line(0.66), path: line(0.5) };
  const bodies = new Map(); // shared by all nodes that look the same
  const body = (group, hollow, ring) => {
    const key = `${group} ${hollow} ${ring}`;
    if (!bodies.has(key)) {
      const color = theme.tint(options.groups[group]);
      const background = hollow ? theme.background : color;
      const border = ring && !hollow ? theme.text : color;
      bodies.set(key, { background, border, highlight: { background, border } }); // a chosen one gets a ring of ours
    }
    return bodies.get(key);
  };
  return {
    node: ({ id, x, y, size, shape, group, hollow }) => {
      const borderWidth = id === start ? 3 : hollow ? 2 : 1;
      return { id, x, y, size, shape, borderWidth, color: body(group, Boolean(hollow), id === start) };
    },
    edge: ({ id, from, to, kind, width, dashes, arrows, smooth }) => ({
      id,
      from,
      to,
      width: Math.max(width * ease, 0.8),
      dashes: dashes ?? false,
      arrows,
      smooth: smooth ?? false,
      color: lines[kind],
    }),
  };
}
