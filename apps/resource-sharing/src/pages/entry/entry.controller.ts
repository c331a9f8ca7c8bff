import { Body, Get, Post, Query, Req, Res } from '@nestjs/common';
import { AppError } from '@gatehouse/platform';
import type { Request, Response } from 'express';
import { CodeNeeded } from '../../site/site-passwords.js';
import { SiteLogin } from '../../site/site-login.js';
import { SiteRegistration } from '../../site/site-registration.js';
import { RegistrationBody, SecondFactorCodeBody, SiteLoginBody } from '../../site/site.dto.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { formTargetsOf, isAuthorizePath, loginHintOf, loginPath, ownPath } from '../parts/return-address.js';
import { CurrentVisitor, setVisitor, type Visitor } from '../../wire/visitor.js';
import { codeForm, loginForm, registrationForm } from './entry.view.js';

interface Entry {
  readonly returnTo: string | undefined;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
  readonly notice?: string | undefined;
}

/** Logging in, registering and logging out. */
@PageController('', 'everybody')
export class EntryController {
  constructor(
    private readonly login: SiteLogin,
    private readonly registration: SiteRegistration,
  ) {}

  @Get('login')
  showLogin(@CurrentVisitor() visitor: Visitor, @Query() query: object, @Res() response: Response): void {
    sendLogin(response, visitor, { returnTo: returnAddress(query), notice: noticeOf(visitor, query) });
  }

  @Post('login')
  async logIn(
    @CurrentVisitor() visitor: Visitor,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const returnTo = returnAddress(body);
    const problem = await refusalOf(async () => {
      const given = { username: values.text('username'), password: values.text('password') };
      await this.login.logIn(validated(SiteLoginBody, given), request, response);
    });
    if (problem === undefined) response.redirect(303, returnTo ?? '/');
    else if (problem instanceof CodeNeeded) {
      sendCode(response, visitor, { returnTo, ticket: this.login.ticketFor(problem.account) });
    } else sendLogin(response, visitor, { returnTo, values, problem });
  }

  /** The second step for accounts with a second factor. */
  @Post('login/code')
  async enterCode(
    @CurrentVisitor() visitor: Visitor,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const returnTo = returnAddress(body);
    const ticket = values.text('ticket');
    const pending = this.login.pendingLogin(ticket);
    if (pending === undefined) {
      const problem = new AppError('LOGIN_FAILED', 'Signing in took too long: start again');
      return sendLogin(response, visitor, { returnTo, problem });
    }
    const problem = await refusalOf(async () => {
      const { code } = validated(SecondFactorCodeBody, { code: values.text('code').trim() });
      const account = await this.login.complete(pending, code, request, response);
      // For the audit log.
      setVisitor(request, { ...visitor, account });
    });
    if (problem === undefined) response.redirect(303, returnTo ?? '/');
    else sendCode(response, visitor, { returnTo, ticket, problem });
    return undefined;
  }

  @Get('register')
  showRegistration(@CurrentVisitor() visitor: Visitor, @Query() query: object, @Res() response: Response): void {
    this.sendRegistration(response, visitor, { returnTo: returnAddress(query) });
  }

  @Post('register')
  async register(
    @CurrentVisitor() visitor: Visitor,
    @Body() body: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const returnTo = returnAddress(body);
    const problem = await refusalOf(async () => {
      const given = {
        username: values.text('username').trim(),
        email: values.optional('email'),
        password: values.text('password'),
      };
      await this.registration.register(validated(RegistrationBody, given), request, response);
    });
    if (problem === undefined) response.redirect(303, returnTo ?? '/account');
    else this.sendRegistration(response, visitor, { returnTo, values, problem });
  }

  /** `return_to` after a new login, for users who want to continue with another account. */
  @Post('logout')
  async logOut(@Body() body: object, @Req() request: Request, @Res() response: Response): Promise<void> {
    await this.login.logOut(request, response);
    const returnTo = returnAddress(body);
    response.redirect(303, returnTo === undefined ? '/' : loginPath(returnTo));
  }

  private sendRegistration(response: Response, visitor: Visitor, { returnTo, values, problem }: Entry): void {
    const body = registrationForm(visitor, {
      returnTo,
      username: values?.text('username'),
      email: values?.text('email'),
      problem,
      isOpen: this.registration.isOpen,
    });
    sendPage(
      response,
      { ...visitor, path: loginPath(returnTo, '/register') },
      {
        title: visitor.words.text('entry.registerTitle'),
        body,
        problem,
        narrow: true,
        formTargets: targetsAfter(returnTo),
      },
    );
  }
}

function sendLogin(response: Response, visitor: Visitor, { returnTo, values, problem, notice }: Entry): void {
  const body = loginForm(visitor, { returnTo, username: values?.text('username') ?? loginHintOf(returnTo), problem });
  sendPage(
    response,
    { ...visitor, path: loginPath(returnTo) },
    {
      title: visitor.words.text('entry.signInTitle'),
      body,
      problem,
      notice,
      narrow: true,
      formTargets: targetsAfter(returnTo),
    },
  );
}

/** 401, as for a wrong password: the visitor is not signed in yet. */
function sendCode(
  response: Response,
  visitor: Visitor,
  { returnTo, ticket, problem }: { returnTo: string | undefined; ticket: string; problem?: AppError | undefined },
): void {
  sendPage(
    response,
    { ...visitor, path: loginPath(returnTo) },
    {
      title: visitor.words.text('factor.signInTitle'),
      body: codeForm(visitor, { returnTo, ticket, problem }),
      status: problem?.status ?? 401,
      problem,
      narrow: true,
      formTargets: targetsAfter(returnTo),
    },
  );
}

function returnAddress(source: object): string | undefined {
  return ownPath((source as { return_to?: unknown }).return_to);
}

/** Users who have allowed an application before pass the page of authorization without stopping there. */
function targetsAfter(returnTo: string | undefined): string | undefined {
  if (returnTo === undefined || !isAuthorizePath(returnTo)) return undefined;
  return formTargetsOf(new URL(returnTo, 'http://own.invalid').searchParams.get('redirect_uri'));
}
