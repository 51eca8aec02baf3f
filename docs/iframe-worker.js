/* Search without a server: browsers start no worker for a page from the disk, so the search runs in a hidden frame. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      const send = (target, data) => target.dispatchEvent(new MessageEvent("message", { data }));
      inside.postMessage = (data) => send(this, data);
      const script = frame.contentDocument.createElement("script");
      script.src = url;
      const ready = new Promise((resolve) => (script.onload = resolve));
      frame.contentDocument.body.append(script);
      this.postMessage = (data) => ready.then(() => send(inside, data));
    }
  };
}
