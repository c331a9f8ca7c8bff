import type { Actor } from './actor.js';

const actors = new WeakMap<object, Actor>();

/** Stores the sender of a request. */
export function setActor(request: object, actor: Actor): void {
  actors.set(request, actor);
}

/** The sender of a request; null if it was not identified. */
export function actorOf(request: object): Actor | null {
  return actors.get(request) ?? null;
}
