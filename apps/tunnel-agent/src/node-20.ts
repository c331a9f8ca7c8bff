/** What the agent and its libraries use and Node 20 has not: an agent runs with the Node that is there. */
if (!('withResolvers' in Promise)) {
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, configurable: true, writable: true });
}

function withResolvers(): PromiseWithResolvers<unknown> {
  const made = {} as PromiseWithResolvers<unknown>;
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

export {};
