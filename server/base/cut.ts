// The end of a wait: an AbortSignal, as far as the server reads it. Programs compile this type without those of Node or of browsers.

export interface Cut {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
