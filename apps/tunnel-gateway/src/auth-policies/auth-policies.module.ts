import { Module } from '@nestjs/common';
import { AuthPoliciesController } from './auth-policies.controller.js';
import { AuthPoliciesService } from './auth-policies.service.js';

@Module({ controllers: [AuthPoliciesController], providers: [AuthPoliciesService] })
export class AuthPoliciesModule {}
