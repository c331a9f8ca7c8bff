import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayNotEmpty,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsEmail,
  IsIn,
  IsInt,
  IsIP,
  IsISO8601,
  IsNotEmpty,
  IsObject,
  IsString,
  IsTimeZone,
  IsUrl,
  Length,
  Matches,
  Max,
  MaxLength,
  Min,
  MinLength,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { expect, it } from 'vitest';
import { ErrorTranslator } from '../errors/error-translator.js';
import { validationFailure } from './validation-pipe.js';

/** Of every rule that request classes use. */
const RULES: Record<string, [rule: PropertyDecorator, bad: unknown]> = {
  ArrayMaxSize: [ArrayMaxSize(1), [1, 2]],
  ArrayMinSize: [ArrayMinSize(2), [1]],
  ArrayNotEmpty: [ArrayNotEmpty(), []],
  ArrayUnique: [ArrayUnique(), [1, 1]],
  IsArray: [IsArray(), 1],
  IsBoolean: [IsBoolean(), 1],
  IsEmail: [IsEmail(), 1],
  IsIn: [IsIn(['a', 'b']), 1],
  IsInt: [IsInt(), 'a'],
  IsIP: [IsIP(), 1],
  IsISO8601: [IsISO8601(), 1],
  IsNotEmpty: [IsNotEmpty(), ''],
  IsObject: [IsObject(), 1],
  IsString: [IsString(), 1],
  IsTimeZone: [IsTimeZone(), 1],
  IsUrl: [IsUrl(), 1],
  Length: [Length(2, 3), 'abcd'],
  Matches: [Matches(/^a/), 'b'],
  Max: [Max(1), 2],
  MaxLength: [MaxLength(1), 'ab'],
  Min: [Min(1), 0],
  MinLength: [MinLength(2), 'a'],
  ValidateNested: [ValidateNested(), 1],
  'IsString of each': [IsString({ each: true }), [1]],
};

it.each(Object.entries(RULES))('the message of %s exists in Chinese', (_, [rule, bad]) => {
  class Asked {
    name = bad;
  }
  rule(Asked.prototype, 'name');
  const { details } = validationFailure(validateSync(new Asked()), 'INVALID_ARGUMENT');
  expect(details).toHaveLength(1);
  const text = new ErrorTranslator().text('zh-CN', details[0]?.message ?? '');
  expect(text).toMatch(/\p{Script=Han}/u);
  expect(text).not.toMatch(/must|should|each|elements/);
});
