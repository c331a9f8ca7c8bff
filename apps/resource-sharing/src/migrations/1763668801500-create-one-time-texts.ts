import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateOneTimeTexts1763668801500 implements MigrationInterface {
  name = 'CreateOneTimeTexts1763668801500';

  async up(queryRunner: QueryRunner): Promise<void> {
    // What a form made and the page after it shows once; gone with the session.
    await queryRunner.query(`CREATE TABLE one_time_texts (
      session_id bigint NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
      page text NOT NULL,
      sealed text NOT NULL,
      expires_at timestamptz NOT NULL,
      PRIMARY KEY (session_id, page)
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE one_time_texts');
  }
}
