// Keys, and saving of each answer when it is given. The pages work without this script.
"use strict";

const RETRY_MS = 2000, TYPING_MS = 400;
const byId = id => document.getElementById(id);
const form = byId("form");
const fields = form ? [...form.querySelectorAll("[data-field]")] : [];
const inputs = field => [...field.querySelectorAll("input")];
let active = -1;

// Saving: unsent holds the newest value of each field that the server has not confirmed.
const unsent = new Map();
let sending = false;

function say(text, isBad = false) {
  byId("status").textContent = text;
  byId("status").classList.toggle("bad", isBad);
}

async function send() {
  if (sending) return;
  sending = true;
  while (unsent.size) {  // one request at a time: the newest value arrives last
    const [name, value] = unsent.entries().next().value;
    try {
      const response = await fetch(form.action, {
        method: "POST", keepalive: true, headers: { "X-Autosave": "1" },
        body: new URLSearchParams({ [name]: value }),
      });
      if (!response.ok) throw new Error(response.status);
      if (unsent.get(name) === value) unsent.delete(name);
      say("Saved");
    } catch {
      say("Not saved yet: no connection. Trying again.", true);
      await new Promise(done => setTimeout(done, RETRY_MS));
    }
  }
  sending = false;
}

function save(input) {
  unsent.set(input.name, input.value);
  send();
}

function activate(index, focus = true) {
  if (!fields[index]) return;
  fields[active]?.classList.remove("active");
  active = index;
  const field = fields[active];
  field.classList.add("active");
  if (!focus) return;
  const all = inputs(field);
  (all.find(input => input.checked) ?? all[0]).focus({ preventScroll: true });
  field.scrollIntoView({ block: "nearest" });
}

const isAnswered = field => inputs(field).some(i => i.type === "radio" ? i.checked : i.value);

function choose(input) {
  input.checked = true;
  input.focus({ preventScroll: true });
  save(input);
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  const key = event.key, target = event.target, typing = target.matches?.("input[type=text]");
  const run = action => { event.preventDefault(); action(); };
  if (!form) {
    if (key === "Enter" && target === document.body && byId("go")) run(() => byId("go").click());
    return;
  }
  if (target.closest?.("a, button, summary") && key === "Enter") return;
  if (key === "ArrowDown") return run(() => activate(Math.min(active + 1, fields.length - 1)));
  if (key === "ArrowUp") return run(() => activate(Math.max(active - 1, 0)));
  if (key === "Enter") {
    const isLast = active >= fields.length - 1;
    return run(() => typing && !isLast ? activate(active + 1) : form.requestSubmit());
  }
  if (typing) return;
  const options = active < 0 ? [] : inputs(fields[active]);
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const now = options.findIndex(option => option.checked);
    const next = options[now < 0 ? 0 : now + (key === "ArrowRight" ? 1 : -1)];
    return run(() => next && choose(next));
  }
  const option = options.find(option => option.dataset.key === key);
  if (option) return run(() => { choose(option); activate(active + 1); });
  if (key.toLowerCase() === "s" && byId("sources")) return run(() => byId("sources").toggleAttribute("open"));
  if (key.toLowerCase() === "p" && byId("previous")) return run(() => byId("previous").click());
}

document.addEventListener("keydown", press);
if (form) {
  let timer = 0;
  form.addEventListener("change", event => save(event.target));
  form.addEventListener("input", event => {
    clearTimeout(timer);
    if (event.target.type === "text") timer = setTimeout(save, TYPING_MS, event.target);
  });
  form.addEventListener("submit", async event => {
    clearTimeout(timer);
    if (!unsent.size) return;
    event.preventDefault();  // a lost connection would otherwise lose the page with its answers
    while (unsent.size) await new Promise(done => setTimeout(done, 50));
    form.submit();
  });
  form.addEventListener("focusin", event => {
    const index = fields.findIndex(field => field.contains(event.target));
    if (index >= 0 && index !== active) activate(index, false);
  });
  const open = fields.findIndex(field => !isAnswered(field));
  activate(Math.max(open, 0));
  window.scrollTo(0, 0);
}
