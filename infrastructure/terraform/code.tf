# The code of the functions and layers: the folders that `make build` has made, each as one object of your bucket.

variable "stack_name" {
  description = "The prefix of all names: of functions, log groups and schedule groups."
  type        = string
  default     = "stepless"
  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9-]{0,39}$", var.stack_name))
    error_message = "stack_name has 1 to 40 letters, digits and hyphens, and begins with a letter."
  }
}

variable "build" {
  description = "The folder that `make build` writes: .aws-sam/build."
  type        = string
}

variable "code_bucket" {
  description = "Name of a bucket for the code."
  type        = string
}

variable "tags" {
  description = "Tags of every resource that can have some."
  type        = map(string)
  default     = {}
}

data "aws_caller_identity" "current" {}

data "aws_partition" "current" {}

data "aws_region" "current" {}

data "archive_file" "code" {
  for_each = local.artifacts

  type        = "zip"
  source_dir  = "${var.build}/${local.folders[each.key]}"
  output_path = "${path.root}/.terraform/stepless/${each.key}.zip"
}

resource "aws_s3_object" "code" {
  for_each = local.artifacts

  bucket = var.code_bucket
  key    = "${var.stack_name}/${each.key}/${data.archive_file.code[each.key].output_md5}.zip"
  source = data.archive_file.code[each.key].output_path
  tags   = var.tags
}

locals {
  # Changes with the code and with every parameter, so that versions of the functions are published.
  contents = { for name, code in data.archive_file.code : name => code.output_sha256 }
  made     = substr(sha256(jsonencode([local.given, local.contents])), 0, 16)
  release  = var.release != "" ? var.release : local.made

  # As the id of a stack of CloudFormation, which ends with a UUID: here the id of a resource that is never replaced.
  stack_id = "stack/${var.stack_name}/${terraform_data.rules.id}"
}
