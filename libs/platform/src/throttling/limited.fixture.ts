import { Controller, Get, Module } from '@nestjs/common';
import { Throttle } from '@nestjs/throttler';
import { MemoryWindowCounter } from './memory-counter.js';
import { SkipThrottle, ThrottlingModule } from './throttling.module.js';

// A small service for this folder's specs. Not in a spec file: those are outside the project that knows decorators.

@Controller()
class LimitedController {
  @Get('usual')
  usual(): object {
    return {};
  }
  @Throttle({ default: { limit: 1, ttl: 60_000 } })
  @Get('strict')
  strict(): object {
    return {};
  }
  @SkipThrottle()
  @Get('free')
  free(): object {
    return {};
  }
}

@Module({
  imports: [
    ThrottlingModule.forRoot({ limit: 3, windowMs: 60_000, counter: { useFactory: () => new MemoryWindowCounter() } }),
  ],
  controllers: [LimitedController],
})
export class LimitedModule {}
