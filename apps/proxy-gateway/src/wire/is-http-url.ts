import { ValidateBy } from 'class-validator';

export const IsHttpUrl = (): PropertyDecorator =>
  ValidateBy({
    name: 'isHttpUrl',
    validator: {
      validate: (value) => typeof value === 'string' && /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
      defaultMessage: () => 'url must be an http or https URL',
    },
  });
