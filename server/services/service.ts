// The methods of a service: the rules of a resource, with everything they need in the context. The pipeline has decoded the
// request, authenticated the caller and checked the method's scope.
import type { OperationName, RequestOf, ResponseOf } from "../../schema/index.ts";
import type { ServiceContext } from "./context.ts";

export type Services<N extends OperationName> = {
  readonly [K in N]: (request: RequestOf<K>, context: ServiceContext) => ResponseOf<K>;
};

/** The methods that one service has. */
export type ServiceMethods = Partial<Services<OperationName>>;
