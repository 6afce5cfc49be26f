// What the engine puts in the place of a value that a preview cannot know yet; it stands inside maps and lists as well.
export const UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

export const isUnknown = (value: unknown): boolean => value === UNKNOWN;

export const containsUnknown = (value: unknown): boolean =>
  isUnknown(value) || (typeof value === "object" && value !== null && Object.values(value).some(containsUnknown));
