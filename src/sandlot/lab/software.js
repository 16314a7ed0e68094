// Runs on a page before viser's own script: less work without a graphics card.
(() => {
  const query = new URLSearchParams(location.search);
  const probe = document.createElement("canvas").getContext("webgl");
  const about = probe && probe.getExtension("WEBGL_debug_renderer_info");
  const renderer = about ? probe.getParameter(about.UNMASKED_RENDERER_WEBGL) : "";
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer)) return;

  const gl = WebGL2RenderingContext.prototype;
  const getParameter = gl.getParameter;
  gl.getParameter = function (name) {
    // viser asks this once, and would cover a part of the page with advice about graphics cards
    return name === about.UNMASKED_RENDERER_WEBGL ? "no graphics card" : getParameter.call(this, name);
  };
  if (query.has("smooth")) return;

  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    const plain = kind.startsWith("webgl") ? { ...options, antialias: false, alpha: false } : options;
    return getContext.call(this, kind, plain);
  };
  const clearColor = gl.clearColor;
  gl.clearColor = function () {
    clearColor.call(this, 0.9, 0.92, 0.93, 1.0); // a plain sky: what lies behind a transparent canvas is drawn again
  };
  if (query.has("fixedDpr") || !location.protocol.startsWith("http")) return; // a file may not change its address
  query.set("fixedDpr", "0.7");
  history.replaceState(null, "", "?" + query);
})();
