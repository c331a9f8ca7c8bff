import { parseControlEndpoint } from '@gatehouse/net';
import { IsOptional, ValidateBy } from 'class-validator';
import { Variable } from './variable.js';

/** A setting that says where a control channel is, or nothing. `example`: a host with its port. */
export function Channel(variable: string, example: string): PropertyDecorator {
  const validate = (text: unknown): boolean => typeof text === 'string' && parseControlEndpoint(text) !== null;
  return (prototype, property) => {
    const channel = Variable(variable, { expected: `host:port such as ${example}, or the path of a socket` });
    const isChannel = ValidateBy({ name: 'isChannel', validator: { validate } });
    for (const decorate of [channel, IsOptional(), isChannel]) decorate(prototype, property);
  };
}
