import type { INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';

/** The method that serves a route, and its class. */
export interface Route {
  readonly handler: object;
  readonly controller: object;
}

/** How the document names an operation: `nodes_list` for NodesController.list. */
export function operationId(controller: string, method: string): string {
  const name = controller.replace(/Controller$/, '');
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}_${method}`;
}

/** Every method of every controller by the operation that it may be. */
export function routesOf(app: INestApplication): Map<string, Route> {
  const routes = new Map<string, Route>();
  for (const module of app.get(ModulesContainer, { strict: false }).values()) {
    for (const { metatype } of module.controllers.values()) {
      if (typeof metatype !== 'function') continue;
      for (const [method, handler] of methodsOf(metatype.prototype as object)) {
        routes.set(operationId(metatype.name, method), { handler, controller: metatype });
      }
    }
  }
  return routes;
}

function methodsOf(prototype: object): [string, object][] {
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype));
  return own.flatMap(([name, { value }]): [string, object][] => (typeof value === 'function' ? [[name, value]] : []));
}
