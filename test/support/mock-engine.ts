// The SDK's own mocks in place of the engine, for a program of one stack.
import { runtime } from "@pulumi/pulumi";

export const mockEngine = (newResource: runtime.Mocks["newResource"], isPreview = false): Promise<void> =>
  runtime.setMocks({ newResource, call: () => ({}) }, "project", "stack", isPreview);
