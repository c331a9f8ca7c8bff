import { Module } from '@nestjs/common';
import { AuthPoliciesModule } from '../auth-policies/auth-policies.module.js';
import { Visits } from './visits.service.js';

@Module({ imports: [AuthPoliciesModule], providers: [Visits] })
export class VisitsModule {}
