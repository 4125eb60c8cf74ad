"""Stepless as a construct of the AWS CDK: one deployment inside a stack of your app."""

from stepless_cdk.construct import Stepless as Stepless
from stepless_cdk.parameters import Parameters as Parameters
