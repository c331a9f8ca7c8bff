import { HealthRegistry } from '@gatehouse/platform';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Ready means that the database answers. */
@Injectable()
export class DatabaseHealth implements OnModuleInit {
  constructor(
    private readonly health: HealthRegistry,
    private readonly dataSource: DataSource,
  ) {}

  onModuleInit(): void {
    this.health.register('database', () => this.dataSource.query('SELECT 1'));
  }
}
