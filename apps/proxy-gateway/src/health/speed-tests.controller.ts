import { Requires } from '@gatehouse/auth';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import type { NodeTestResult, SpeedTestView } from '@gatehouse/contracts';
import { Controller, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsBoolean, IsOptional } from 'class-validator';
import { JobQuery } from '../jobs/jobs.controller.js';
import { SpeedTestsService } from './speed-tests.service.js';
import { TestNodeService } from './test-node.service.js';

export class SpeedTestQuery extends JobQuery {
  /** Answer when the test has ended, or after two minutes, instead of at once. */
  @IsOptional()
  @Transform(({ value }: { value: unknown }) => (value === 'true' ? true : value === 'false' ? false : value))
  @IsBoolean()
  wait?: boolean;
}

@Controller('proxies')
export class SpeedTestsController {
  constructor(
    private readonly single: TestNodeService,
    private readonly tests: SpeedTestsService,
  ) {}

  @Post('test-all')
  @Answers('SpeedTestView', 'Tests every enabled node, as a job')
  @HttpCode(200)
  @Requires('write')
  testAll(@Query() { wait = false, limit, offset }: SpeedTestQuery): Promise<SpeedTestView> {
    return this.tests.testAll(wait, { limit, offset });
  }

  @Post(':id/test')
  @Answers('NodeTestResult', 'Tests a node')
  @Fails('UNPROCESSABLE', 'KERNEL_UNAVAILABLE')
  @HttpCode(200)
  @Requires('write')
  test(@Param('id', IdPipe) id: number): Promise<NodeTestResult> {
    return this.single.run(id);
  }
}
