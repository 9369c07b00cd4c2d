// A report whose citations can be followed. Every text becomes textContent; a citation is a link with an address of its
// own, which a plain click leaves alone: the page then draws the evidence without being loaded anew.

function part(one, tell) {
  if (typeof one === "string") return document.createTextNode(one);
  if (one.thing === null) {
    const said = document.createElement("span");
    said.className = "nothing";
    said.textContent = one.text;
    said.title = one.told;
    const told = document.createElement("span");
    told.className = "unseen";
    told.textContent = ` (${one.told})`;
    said.append(told);
    return said;
  }
  const link = document.createElement("a");
  link.className = "cite";
  link.textContent = one.text;
  link.href = one.href;
  link.title = one.told;
  link.dataset.thing = one.thing;
  link.setAttribute("aria-label", `${one.text}: ${one.told}`);
  if (one.shown) link.setAttribute("aria-current", "true");
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    tell(one.thing);
  };
  return link;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const report = parentElement.querySelector(".attest-report");
  const had = report.getRootNode().activeElement?.dataset.place;
  const tell = (thing) => setTriggerValue("event", { kind: "cite", id: thing });
  const blocks = data.blocks.map(({ name, css, parts }) => {
    const block = document.createElement(name);
    block.className = css;
    const isolated = document.createElement("bdi");
    isolated.append(...parts.map((one) => part(one, tell)));
    block.append(isolated);
    return block;
  });
  report.replaceChildren(...blocks);
  const links = [...report.querySelectorAll("a")];
  links.forEach((link, place) => (link.dataset.place = place));
  if (had !== undefined) links[had]?.focus({ preventScroll: true });
}
