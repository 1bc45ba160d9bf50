// Package planner turns bound queries on protected tables into private plans.
package planner
