import type { Actor } from './actor.js';

const actors = new WeakMap<object, Actor>();

/** Remembers who sent a request. */
export function setActor(request: object, actor: Actor): void {
  actors.set(request, actor);
}

/** Who sent a request; null when nobody was asked to say. */
export function actorOf(request: object): Actor | null {
  return actors.get(request) ?? null;
}
