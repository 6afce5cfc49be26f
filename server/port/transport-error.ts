/** What a wire finds wrong with a request on its way in, beside its values: the wire itself answers it. */
export abstract class TransportError extends Error {}
