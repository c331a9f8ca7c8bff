import { ApiProperty } from '@nestjs/swagger';
import { USER_ROLES, type User, type UserRole } from './user.entity.js';

/** A user on the wire. */
export class UserView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  username: string;
  @ApiProperty({ enum: USER_ROLES })
  role: UserRole;
  @ApiProperty({ type: 'integer', description: '1 enabled, 0 disabled' })
  status: number;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  created_at: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  updated_at: string | null;
}

export function toUserView(user: User): UserView {
  return {
    id: user.id,
    username: user.username,
    role: user.role,
    status: user.status,
    created_at: user.createdAt?.toISOString() ?? null,
    updated_at: user.updatedAt?.toISOString() ?? null,
  };
}
