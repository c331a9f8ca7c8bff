import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ApplicationChangeBody, NewApplicationBody, SecretRotationBody } from '../../applications/applications.dto.js';
import type { NewApplication } from '../../applications/applications.service.js';
import { OwnerConfirmation } from '../../applications/owner-confirmation.js';
import type { Proof } from '../../site/password-confirmation.js';
import { SiteAccounts } from '../../site/site-accounts.service.js';
import { FormValues, validated } from '../parts/form-values.js';

/** The user who sends a form and the application that it is about. */
export interface FormSender {
  readonly ownerId: number;
  readonly clientId: string;
  readonly request: Request;
}

/** Forms about applications, which follow the rules of the REST interface. */
@Injectable()
export class ApplicationForms {
  constructor(
    private readonly accounts: SiteAccounts,
    private readonly confirmation: OwnerConfirmation,
  ) {}

  /** @throws INVALID_ARGUMENT */
  registration(values: FormValues): NewApplication {
    const body = validated(NewApplicationBody, {
      name: values.text('name').trim(),
      description: values.text('description').trim(),
      kind: values.optional('kind'),
      redirect_uris: values.words('redirect_uris'),
      scopes: values.list('scopes'),
    });
    return {
      name: body.name,
      description: body.description,
      kind: body.kind,
      scopes: body.scopes,
      redirectUris: body.redirect_uris,
    };
  }

  /** @throws INVALID_ARGUMENT, also for an unknown test user, and LOGIN_FAILED if the password is required. */
  async change(values: FormValues, sender: FormSender): Promise<void> {
    const body = validated(ApplicationChangeBody, {
      name: values.text('name').trim(),
      description: values.text('description').trim(),
      redirect_uris: values.words('redirect_uris'),
      scopes: values.list('scopes'),
      ip_allow: values.words('ip_allow'),
      test_user_ids: await this.idsOf(values.words('test_users')),
      bound_to_owner: values.isChecked('bound_to_owner'),
    });
    await this.confirmation.update(
      { ...sender, proof: proofIn(values) },
      {
        name: body.name,
        description: body.description,
        redirectUris: body.redirect_uris,
        scopes: body.scopes,
        ipAllow: body.ip_allow,
        testUserIds: body.test_user_ids,
        boundToOwner: body.bound_to_owner,
      },
    );
  }

  /** The new secret. @throws INVALID_ARGUMENT, and LOGIN_FAILED if the password is required. */
  async rotation(values: FormValues, sender: FormSender): Promise<string> {
    const body = validated(SecretRotationBody, { overlap_seconds: values.wholeNumber('overlap_seconds') });
    const asked = { ...sender, proof: proofIn(values) };
    return (await this.confirmation.rotate(asked, body.overlap_seconds)).secret;
  }

  private async idsOf(names: readonly string[]): Promise<number[]> {
    const known = await this.accounts.idsOf(names);
    const unknown = names.filter((name) => !known.has(name.toLowerCase()));
    if (unknown.length === 0 && known.size <= 5) return [...known.values()];
    const message = unknown.length > 0 ? `these users do not exist: ${unknown.join(', ')}` : 'at most five';
    throw new AppError('INVALID_ARGUMENT', `test_users: ${message}`, { details: [{ field: 'test_users', message }] });
  }
}

function proofIn(values: FormValues): Proof {
  return { password: values.text('current_password'), code: values.optional('code') };
}
