import { IsInt, Max, Min } from 'class-validator';
import { Variable } from './variable.js';

/** A setting that is a port; 0: any free one. */
export function Port(variable: string): PropertyDecorator {
  return (prototype, property) => {
    const port = Variable(variable, { kind: 'integer', expected: 'a port from 0 to 65535' });
    for (const decorate of [port, IsInt(), Min(0), Max(65_535)]) decorate(prototype, property);
  };
}
