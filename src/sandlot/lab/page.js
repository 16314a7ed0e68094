// Runs on the lab's page before viser's own script: keys that drive, and less work without a graphics card.
(() => {
  const query = new URLSearchParams(location.search);
  const probe = document.createElement("canvas").getContext("webgl");
  const about = probe && probe.getExtension("WEBGL_debug_renderer_info");
  const renderer = about ? probe.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  if (/swiftshader|llvmpipe|software|basic render/i.test(renderer) && !query.has("smooth")) {
    const original = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, options) {
      const plain = kind.startsWith("webgl") ? { ...options, antialias: false, alpha: false } : options;
      return original.call(this, kind, plain);
    };
    const clearColor = WebGL2RenderingContext.prototype.clearColor;
    WebGL2RenderingContext.prototype.clearColor = function () {
      clearColor.call(this, 0.9, 0.92, 0.93, 1.0); // a plain sky: what lies behind a transparent canvas is drawn again
    };
    if (!query.has("fixedDpr")) {
      query.set("fixedDpr", "0.7");
      history.replaceState(null, "", "?" + query);
    }
  }

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
