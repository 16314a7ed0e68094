// Runs on the lab's page before viser's own script: keys that drive.
(() => {
  const codes = new Set(
    "ArrowUp ArrowDown ArrowLeft ArrowRight KeyW KeyA KeyS KeyD KeyR KeyF KeyT KeyG".split(" "),
  );
  const held = new Set();
  let socket = null;
  const tell = () => {
    if (socket && socket.readyState === WebSocket.OPEN) socket.send([...held].join(" "));
  };
  const connect = () => {
    socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/keys`);
    socket.onopen = tell;
    socket.onclose = () => setTimeout(connect, 2000);
  };
  if (location.protocol.startsWith("http")) connect();
  const typing = (element) => element && (/INPUT|TEXTAREA|SELECT/.test(element.tagName) || element.role === "slider");
  const listen = (event) => {
    if (event.type === "keyup" && held.delete(event.code)) tell(); // also while typing: no key may stay pressed
    if (!codes.has(event.code) || event.ctrlKey || event.metaKey || event.altKey || typing(document.activeElement)) return;
    if (event.type === "keydown" && !event.repeat) {
      held.add(event.code);
      tell();
    }
    event.stopImmediatePropagation(); // viser would move the camera
    event.preventDefault();
  };
  addEventListener("keydown", listen, true);
  addEventListener("keyup", listen, true);
  addEventListener("blur", () => {
    held.clear();
    tell();
  });
})();
