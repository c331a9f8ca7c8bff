import { pgPool } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** How many different addresses use a credential in a day, over all replicas. */
@Injectable()
export class AddressCounts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly logger: JsonLogger,
  ) {}

  /** Whether the address is among the first `most` of the day; also true if the count is unknown. */
  async admit(credentialId: number, day: string, address: string, most: number): Promise<boolean> {
    try {
      const { rows } = await pgPool(this.dataSource).query<{ admitted: boolean }>({
        name: 'admit_address',
        text: 'SELECT admit_address($1, $2, $3, $4) AS admitted',
        values: [credentialId, day, address, most],
      });
      return rows[0]?.admitted !== false;
    } catch (error) {
      this.logger.warn('the addresses of a credential could not be counted', { error }, 'AddressCounts');
      return true;
    }
  }
}
