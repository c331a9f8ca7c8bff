import { SecondFactors } from '@gatehouse/auth';
import { SECRET_BOX, UnitOfWork, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** Second factors of console users. */
@Injectable()
export class SecondFactor extends SecondFactors {
  constructor(unitOfWork: UnitOfWork, @Inject(SECRET_BOX) box: SecretBox) {
    super(unitOfWork, box);
  }
}
