import { Controller, Get, Injectable, Module, Post, type DynamicModule } from '@nestjs/common';
import { PersistenceModule } from '@gatehouse/persistence';
import { AuthModule, type AuthModuleOptions } from './auth.module.js';
import { SYSTEM_ACTOR, type Actor } from './guard/actor.js';
import { AuthPolicy } from './guard/authenticator.js';
import { SessionUsers, type SessionUser } from './guard/known-users.js';
import { CookieOnly, CurrentActor, Public, Requires, RequiresLogin } from './guard/decorators.js';

// A small guarded service for this folder's specs. Not in a spec file: those are outside the project that knows decorators.

@Controller('notes')
class NotesController {
  @Get()
  read(@CurrentActor() actor: Actor): Actor {
    return actor;
  }
  @Post()
  write(): object {
    return {};
  }
  @Requires('admin')
  @Get('admin')
  administer(): object {
    return {};
  }
  @RequiresLogin()
  @Get('credentials')
  credentials(): object {
    return {};
  }
  @CookieOnly()
  @Get('mine')
  mine(@CurrentActor() actor: Actor): Actor {
    return actor;
  }
  @CookieOnly()
  @Post('mine')
  change(): object {
    return {};
  }
  @Public()
  @Get('public')
  open(@CurrentActor() actor: Actor | null): object {
    return { actor };
  }
}

/** What users are at the moment. */
export const users = new Map<number, SessionUser>([[1, { name: 'ada', role: 'user', scopes: ['write'] }]]);

@Injectable()
class FixedUsers extends SessionUsers {
  find(userId: number): Promise<SessionUser | undefined> {
    return Promise.resolve(users.get(userId));
  }
}

export const openness = { open: false };

@Injectable()
class SwitchedPolicy extends AuthPolicy {
  openActor(): Actor | undefined {
    return openness.open ? { ...SYSTEM_ACTOR, name: 'anonymous' } : undefined;
  }
}

@Module({})
export class GuardedNotesModule {
  static forRoot(url: string, secretKey: Buffer): DynamicModule {
    const auth: AuthModuleOptions = {
      service: 'notes',
      secretKeys: [secretKey],
      apiKeyPrefix: 'gnk_',
      sessions: { cookie: 'notes', secure: false, users: FixedUsers },
      policy: SwitchedPolicy,
    };
    const database = { url, schema: 'public', entities: [], migrations: [], applicationName: 'notes' };
    return {
      module: GuardedNotesModule,
      imports: [PersistenceModule.forRoot(database), AuthModule.forRoot(auth)],
      controllers: [NotesController],
    };
  }
}
