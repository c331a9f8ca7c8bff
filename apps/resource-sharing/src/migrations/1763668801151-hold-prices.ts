import type { MigrationInterface, QueryRunner } from 'typeorm';
import { UNLOCK_SHARE } from './1763668801121-create-unlocks.js';

const STATEMENTS = [
  // Who looked at a share pays no more than was shown: for ten minutes after a price was raised the lower one holds.
  `ALTER TABLE shares ADD COLUMN held_points integer CONSTRAINT shares_held_points_check CHECK (held_points >= 0),
    ADD COLUMN held_until timestamptz`,
  // Of unlock_points, held_points and held_until; 0 is free.
  `CREATE FUNCTION share_price(p_points integer, p_held integer, p_until timestamptz) RETURNS integer LANGUAGE sql STABLE
  AS $$ SELECT least(coalesce(p_points, 0), CASE WHEN p_until > now() THEN p_held END) $$`,
  `CREATE FUNCTION hold_share_price() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    NEW.held_points := share_price(OLD.unlock_points, OLD.held_points, OLD.held_until);
    NEW.held_until := now() + interval '10 minutes';
    RETURN NEW;
  END $$`,
  `CREATE TRIGGER shares_hold_price BEFORE UPDATE OF unlock_points ON shares FOR EACH ROW
    WHEN (coalesce(NEW.unlock_points, 0) > coalesce(OLD.unlock_points, 0)) EXECUTE FUNCTION hold_share_price()`,
];

export class HoldPrices1763668801151 implements MigrationInterface {
  name = 'HoldPrices1763668801151';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of [...STATEMENTS, UNLOCK_SHARE]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TRIGGER shares_hold_price ON shares');
    await queryRunner.query('DROP FUNCTION hold_share_price()');
    await queryRunner.query('DROP FUNCTION share_price(integer, integer, timestamptz)');
    await queryRunner.query('ALTER TABLE shares DROP COLUMN held_points, DROP COLUMN held_until');
  }
}
