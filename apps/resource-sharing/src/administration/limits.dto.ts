import { SchemaRule } from '@gatehouse/platform';
import { IsInt, IsObject, IsOptional, Matches, Max, Min, ValidateBy, type ValidationArguments } from 'class-validator';
import { OPEN_SCOPES } from '../credentials/caller.js';

const MOST = 1_000_000_000;
const OPERATION = /^(?:GET|POST|PATCH|PUT|DELETE) \/api\/open\/[\w/:-]{1,100}$/;

/** A count; null or absent: no limit. */
function Limit(): PropertyDecorator {
  return (target, property) => {
    IsOptional()(target, property);
    IsInt()(target, property);
    Min(1)(target, property);
    Max(MOST)(target, property);
  };
}

/** An object of whole numbers whose names match a pattern. */
function LimitsBy(names: RegExp): PropertyDecorator {
  const isLimit = ([name, limit]: [string, unknown]): boolean =>
    names.test(name) && Number.isInteger(limit) && Number(limit) >= 0 && Number(limit) <= MOST;
  const validator = {
    validate: (value: unknown) =>
      typeof value === 'object' &&
      value !== null &&
      Object.keys(value).length <= 100 &&
      Object.entries(value).every(isLimit),
    defaultMessage: ({ property }: ValidationArguments) =>
      `${property} must contain only known names with whole numbers`,
  };
  return (target, property) => {
    IsOptional()(target, property);
    IsObject()(target, property);
    ValidateBy({ name: 'limitsBy', validator })(target, property);
  };
}

export class QuotaProfileName {
  @Matches(/^[a-z0-9][a-z0-9_-]{0,49}$/, { message: 'name must have lowercase letters, digits and dashes' })
  name: string;
}

const COUNTS = { type: 'integer', minimum: 0, maximum: MOST };

@SchemaRule({
  properties: {
    group_per_minute: { maxProperties: 100, propertyNames: { enum: OPEN_SCOPES }, additionalProperties: COUNTS },
    endpoint_per_day: {
      maxProperties: 100,
      propertyNames: { pattern: OPERATION.source },
      additionalProperties: COUNTS,
    },
  },
})
export class QuotaProfileBody {
  @Limit()
  app_per_minute?: number | null;

  @Limit()
  app_burst_per_second?: number | null;

  @Limit()
  app_address_per_minute?: number | null;

  @Limit()
  user_per_minute?: number | null;

  @Limit()
  app_per_day?: number | null;

  @Limit()
  user_per_day?: number | null;

  @Limit()
  addresses_per_day?: number | null;

  /** By scope. */
  @LimitsBy(new RegExp(`^(?:${OPEN_SCOPES.join('|')})$`))
  group_per_minute?: Record<string, number>;

  /** By operation, such as `POST /api/open/resources/unlock`. */
  @LimitsBy(OPERATION)
  endpoint_per_day?: Record<string, number>;
}
