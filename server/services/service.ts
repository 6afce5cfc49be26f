// The methods of a service: the rules of a resource, with everything they need in the context. The pipeline has decoded the
// request, authenticated the caller and checked the method's scope.
import type { z } from "zod";
import type { OperationName, operations } from "../../schema/index.ts";
import type { ServiceContext } from "./context.ts";

type Request<N extends OperationName> = z.output<(typeof operations)[N]["request"]>;
type Response<N extends OperationName> = z.output<(typeof operations)[N]["response"]>;

export type Method<N extends OperationName> = (request: Request<N>, context: ServiceContext) => Response<N>;

export type Services<N extends OperationName> = { readonly [K in N]: Method<K> };

/** The methods that one service has. */
export type ServiceMethods = Partial<Services<OperationName>>;
