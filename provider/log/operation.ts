// What the processes of one engine operation share. With dynamic resources one process serves all of them; a plugin runs one process for
// each explicit provider. Shared state is a reducer over one log of events, and the order of the log decides which process was first.

/** State that a reducer derives from the events of all processes. */
export interface Shared<E, R> {
  /** Adds an event to the log. Returns the reducer's verdict on it, after all events before it. */
  append(event: E): R;
  /** Applies the events that other processes have added; absent where there are none. */
  refresh?: () => void;
}

export interface Operation {
  /** this process in it */
  readonly member: string;
  /** The same in all of its processes; undefined where there is only this one. */
  readonly id: string | undefined;
  /** Each topic has one reducer. It must depend on nothing but the events, and ignore those of a later version. */
  share<E, R>(topic: string, reduce: (event: E, member: string) => R): Shared<E, R>;
  /** Whether that process is still part of it. */
  isActive(member: string): boolean;
  /** This process leaves it. */
  close(): void;
}

/** Of this process alone. Its log needs no memory: each event is applied at once. */
export const soleOperation = (): Operation => ({
  member: "",
  id: undefined,
  // Who appends matters only to what several processes take turns in.
  share: (_topic, reduce) => ({ append: reduce as unknown as (event: unknown) => never }),
  isActive: () => true,
  close: () => undefined,
});
