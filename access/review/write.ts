/** Whether a capability changes things: all that do not list or get. */
export const isWrite = ({ capability }: { capability: string }): boolean => !/\.(?:list|get)$/.test(capability);
