import { SecondFactors, type FactorChange } from '@gatehouse/auth';
import { SECRET_BOX, UnitOfWork, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { recordEvent, type AuditEventType } from '../audit/record-event.js';

const EVENTS: Readonly<Record<FactorChange, AuditEventType>> = {
  enabled: 'user.second_factor_enabled',
  codes_replaced: 'user.recovery_codes_replaced',
  code_used: 'user.recovery_code_used',
};

/** Second factors of site accounts. What changes them is an event, and so a notice and a mail. */
@Injectable()
export class SecondFactor extends SecondFactors {
  constructor(unitOfWork: UnitOfWork, @Inject(SECRET_BOX) box: SecretBox) {
    super(unitOfWork, box, {
      record: (tx, userId, change, codesLeft) =>
        recordEvent(tx, { type: EVENTS[change], userId, details: { codes_left: codesLeft } }),
    });
  }
}
