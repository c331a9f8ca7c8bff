import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateUserPreferences1763668802740 implements MigrationInterface {
  name = 'CreateUserPreferences1763668802740';

  async up(queryRunner: QueryRunner): Promise<void> {
    // How users like the console. The table of users is given by the data model, and has no column for it.
    await queryRunner.query(`CREATE TABLE tunnel_gateway_ops.user_preferences (
      user_id bigint PRIMARY KEY REFERENCES tunnel_gateway.users (id) ON DELETE CASCADE,
      language text CHECK (language IN ('en', 'zh-CN')),
      theme text CHECK (theme IN ('system', 'light', 'dark'))
    )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE tunnel_gateway_ops.user_preferences');
  }
}
