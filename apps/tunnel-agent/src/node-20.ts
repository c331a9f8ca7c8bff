/** Adds what the agent and its libraries need but Node 20 lacks: an agent runs on the installed Node. */
if (!('withResolvers' in Promise)) {
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, configurable: true, writable: true });
}

function withResolvers(): PromiseWithResolvers<unknown> {
  const made = {} as PromiseWithResolvers<unknown>;
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

export {};
