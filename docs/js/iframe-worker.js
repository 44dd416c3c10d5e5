// Search works from the disk, too. Browsers refuse workers there, so an iframe takes a worker's place.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = `<script src="${address}"></script>`;
      this.frame.onload = () => {
        this.inside = this.frame.contentWindow;
        this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        this.waiting.forEach((data) => this.postMessage(data));
      };
      document.body.append(this.frame);
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }));
      else this.waiting.push(data);
    }
  };
}
