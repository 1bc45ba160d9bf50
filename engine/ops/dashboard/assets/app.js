// Refreshes the parts of the page that are marked data-live, in place. A part that has the keyboard's focus or a selection is left
// alone until it has not; what is opened stays open, what is scrolled stays scrolled.
(() => {
  "use strict";
  const every = 15000;
  const pause = document.getElementById("pause");
  const status = document.getElementById("refresh-status");
  let paused = sessionStorage.getItem("paused") === "yes";
  let failures = 0;

  const show = () => {
    pause.hidden = false;
    pause.setAttribute("aria-pressed", String(paused));
  };
  const say = (text) => {
    if (status.textContent !== text) status.textContent = text;
  };
  const busy = (part) => {
    const focus = document.activeElement;
    if (focus && focus !== document.body && part.contains(focus)) return true;
    const selection = document.getSelection();
    return Boolean(selection) && !selection.isCollapsed && selection.containsNode(part, true);
  };
  const replace = (part, fresh) => {
    const opened = new Set([...part.querySelectorAll("details[open][id]")].map((d) => d.id));
    const scrolled = [...part.querySelectorAll(".scroll")].map((s) => [s.scrollLeft, s.scrollTop]);
    for (const d of fresh.querySelectorAll("details[id]")) d.open = opened.has(d.id);
    for (const b of fresh.querySelectorAll("button.copy[hidden]")) b.hidden = false;
    if (fresh.isEqualNode(part)) return;
    part.className = fresh.className;
    part.replaceChildren(...fresh.childNodes);
    part.querySelectorAll(".scroll").forEach((s, i) => {
      if (scrolled[i]) [s.scrollLeft, s.scrollTop] = scrolled[i];
    });
  };
  const refresh = async () => {
    const answer = await fetch(location.href, { headers: { "X-Refresh": "1" }, credentials: "same-origin", cache: "no-store" });
    if (answer.status === 401) {
      paused = true;
      show();
      say("You have been logged out. Load the page again to log in.");
      return;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of document.querySelectorAll("[data-live][id]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && !busy(part)) replace(part, document.adoptNode(fresh));
    }
    failures = 0;
    say("");
  };
  const tick = async () => {
    if (!paused && !document.hidden) {
      try {
        await refresh();
      } catch {
        failures += 1;
        if (failures > 1) say("The page could not be refreshed: it shows what it was last told.");
      }
    }
    setTimeout(tick, every);
  };

  // Buttons that copy the statement beside them. Where the clipboard is closed to the page, the statement is selected.
  const copyStatus = document.getElementById("copy-status");
  const showCopies = () => document.querySelectorAll("button.copy[hidden]").forEach((b) => { b.hidden = false; });
  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    const label = button.firstChild;
    let said = "Copied";
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      said = "Selected";
    }
    copyStatus.textContent = said === "Copied" ? "The statement is copied." : "The statement is selected: copy it with Ctrl+C.";
    label.textContent = said;
    setTimeout(() => { label.textContent = "Copy"; }, 2000);
  };
  document.addEventListener("click", (e) => {
    const button = e.target.closest("button.copy");
    if (button) copy(button);
  });

  pause.addEventListener("click", () => {
    paused = !paused;
    sessionStorage.setItem("paused", paused ? "yes" : "no");
    show();
    say("");
  });
  document.addEventListener("visibilitychange", () => {
    if (!paused && !document.hidden) refresh().catch(() => {}); // what was hidden may be old
  });
  show();
  showCopies();
  setTimeout(tick, every);
})();
