import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateRuntimeLogs1763668800331 implements MigrationInterface {
  name = 'CreateRuntimeLogs1763668800331';

  async up(queryRunner: QueryRunner): Promise<void> {
    // The level as a number: debug 10, info 20, warning 30, error 40.
    await queryRunner.query(`
      CREATE TABLE runtime_logs (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        time timestamptz(3) NOT NULL,
        level smallint NOT NULL,
        source text NOT NULL,
        context text,
        message text NOT NULL,
        fields jsonb NOT NULL,
        request_id text
      )`);
    await queryRunner.query('CREATE INDEX runtime_logs_time_idx ON runtime_logs (time)');
    await queryRunner.query('CREATE INDEX runtime_logs_level_idx ON runtime_logs (level, id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE runtime_logs');
  }
}
