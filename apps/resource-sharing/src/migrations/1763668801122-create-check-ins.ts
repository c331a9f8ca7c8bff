import type { MigrationInterface, QueryRunner } from 'typeorm';

const STATEMENTS = [
  `CREATE TABLE check_ins (
    user_id bigint NOT NULL CONSTRAINT check_ins_user_id_fkey REFERENCES site_accounts (id),
    day date NOT NULL,
    mode text NOT NULL CONSTRAINT check_ins_mode_check CHECK (mode IN ('normal', 'gambler')),
    drawn integer NOT NULL,
    points integer NOT NULL,
    streak integer NOT NULL CONSTRAINT check_ins_streak_check CHECK (streak > 0),
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT check_ins_pkey PRIMARY KEY (user_id, day)
  )`,
  // Drawn before, decided here: the balance is known for sure only under its lock. A loss never exceeds the balance.
  `CREATE FUNCTION check_in(p_user bigint, p_gambler boolean, p_drawn integer, p_premium boolean, p_zone text,
    p_at timestamptz DEFAULT now(),
    OUT checked_in boolean, OUT points integer, OUT balance bigint, OUT streak integer, OUT doubled boolean)
  LANGUAGE plpgsql AS $$
  DECLARE
    today date := (p_at AT TIME ZONE p_zone)::date;
    ref text := p_user || ':' || today;
  BEGIN
    PERFORM lock_ledger_accounts(p_user, NULL);
    SELECT a.balance INTO balance FROM ledger_accounts a WHERE a.user_id = p_user;
    points := 0;
    doubled := false;
    SELECT c.streak INTO streak FROM check_ins c WHERE c.user_id = p_user AND c.day = today;
    checked_in := NOT FOUND;
    IF NOT checked_in THEN
      RETURN;
    END IF;
    points := CASE WHEN balance = 0 THEN abs(p_drawn) ELSE greatest(p_drawn, -balance) END;
    doubled := p_premium AND points > 0;
    IF doubled THEN
      points := points * 2;
    END IF;
    streak := 1 + coalesce((SELECT c.streak FROM check_ins c WHERE c.user_id = p_user AND c.day = today - 1), 0);
    INSERT INTO check_ins (user_id, day, mode, drawn, points, streak)
      VALUES (p_user, today, CASE WHEN p_gambler THEN 'gambler' ELSE 'normal' END, p_drawn, check_in.points, check_in.streak);
    IF points > 0 THEN
      SELECT t.to_balance INTO balance FROM ledger_transfer('check_in', ref, NULL, p_user, 'check_ins', points) t;
    ELSIF points < 0 THEN
      SELECT t.from_balance INTO balance FROM ledger_transfer('check_in', ref, p_user, NULL, 'check_ins', -points) t;
    END IF;
  END $$`,
];

export class CreateCheckIns1763668801122 implements MigrationInterface {
  name = 'CreateCheckIns1763668801122';

  async up(queryRunner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP FUNCTION check_in');
    await queryRunner.query('DROP TABLE check_ins');
  }
}
