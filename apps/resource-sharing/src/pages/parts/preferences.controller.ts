import { LANGUAGE_COOKIE } from '@gatehouse/i18n';
import { Body, Post, Res } from '@nestjs/common';
import type { CookieOptions, Response } from 'express';
import { ResourceSharingSettings } from '../../settings.js';
import { FormValues } from './form-values.js';
import { PageController } from './page-controller.js';
import { languageOf, THEME_COOKIE, themeOf } from './reader-view.js';
import { ownPath } from './return-address.js';

const A_YEAR_MS = 31_536_000_000;

/** Language and theme, which every page lets the reader choose. */
@PageController('preferences', 'everybody')
export class PreferencesController {
  constructor(private readonly settings: ResourceSharingSettings) {}

  @Post()
  choose(@Body() body: object, @Res() response: Response): void {
    const values = new FormValues(body);
    const options: CookieOptions = {
      path: '/',
      maxAge: A_YEAR_MS,
      sameSite: 'lax',
      secure: this.settings.secureCookies,
    };
    const language = languageOf(values.text('language'));
    if (language !== undefined) response.cookie(LANGUAGE_COOKIE, language, options);
    response.cookie(THEME_COOKIE, themeOf(values.text('theme')), options);
    response.redirect(303, ownPath(values.text('return_to')) ?? '/');
  }
}
