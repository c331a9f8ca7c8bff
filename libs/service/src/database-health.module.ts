import { HealthRegistry } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** A service is not ready while its database does not answer. */
@Module({})
export class DatabaseHealthModule {
  constructor(health: HealthRegistry, dataSource: DataSource) {
    health.register('database', () => dataSource.query('SELECT 1'));
  }
}
